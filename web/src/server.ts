import type { Explained, Fields, Filters, Overview, Page, Source, State, WholeGroup, WholeRow } from "./types";

/** What is said where the server does not answer; the page has it in both languages. */
export const GONE = "gone";

/** Asks the server of `astuner view`; the token for it stands in the page's own address. */
export class Server implements Source {
  private readonly token = new URLSearchParams(location.search).get("token") ?? "";

  private async ask<T>(name: string, query: Record<string, string> = {}, body?: unknown): Promise<T> {
    const address = `api/${name}?${new URLSearchParams(query)}`;
    const headers = { "x-astuner-token": this.token };
    const sent = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(address, sent).catch(() => {
      throw new Error(GONE);
    });
    if (!answer.ok) throw new Error((await answer.json()).error ?? `status ${answer.status}`);
    return (name === "export" ? await answer.text() : await answer.json()) as T;
  }

  state = () => this.ask<State>("state");
  rows = (filters: Filters, sort: string, offset: number, limit: number) =>
    this.ask<Page>("rows", { ...filters, sort, offset: `${offset}`, limit: `${limit}` });
  row = (n: number) => this.ask<WholeRow>("row", { n: `${n}` });
  group = (n: number) => this.ask<WholeGroup>("group", { n: `${n}` });
  overview = (filters: Filters) => this.ask<Overview>("overview", filters);
  explain = (n: number) => this.ask<Explained>("explain", {}, { n });
  lines = (filters: Filters) => this.ask<string>("export", filters);
  async label(row: Fields, label: string | null, remark: string): Promise<void> {
    await this.ask("label", {}, { id: row.id, nth: row.nth, label, remark });
  }
}
