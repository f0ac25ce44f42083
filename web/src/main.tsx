import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "katex/dist/katex.min.css";
import "./style.css";
import { App } from "./app";
import { Report } from "./report";
import { Server } from "./server";

const data = document.getElementById("report-data");
const source = data ? await Report.of(data) : new Server();
// Lets a program, such as a test, ask the page's questions
Object.assign(window, { astunerSource: source });
render(<App source={source} />, document.getElementById("app")!);
