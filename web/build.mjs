// Builds the page into the package: `npm run build`, or `node build.mjs --out FOLDER`. The same sources give the same bytes.
import { copyFile, mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const asked = process.argv.indexOf("--out");
const out = asked > 0 ? path.resolve(process.argv[asked + 1]) : path.join(here, "../agentscope_tuner/lab/view/static");

// KaTeX names each font in three formats. Every browser that runs the page reads the smallest format, so keep only that
const oneFontFormat = {
  name: "one-font-format",
  setup({ onLoad }) {
    onLoad({ filter: /katex\.min\.css$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, "utf8")).replace(/,url\([^)]*\.(?:woff|ttf)\) format\("[a-z]+"\)/g, ""),
      loader: "css",
      resolveDir: path.dirname(file),
    }));
  },
};

await mkdir(out, { recursive: true });
await build({
  entryPoints: { app: path.join(here, "src/main.tsx") },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2023",
  charset: "ascii",
  legalComments: "eof",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".woff2": "dataurl" },
  plugins: [oneFontFormat],
  logLevel: "info",
});
await copyFile(path.join(here, "src/index.html"), path.join(out, "index.html"));
