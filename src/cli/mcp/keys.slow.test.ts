/** The questions of `rookery mcp call` and `rookery mcp auth` on a rendered terminal, with the keys of the chat. */
import { afterEach, describe, expect, it } from "vitest";
import type { ProgramScreen } from "../../../test/support/screen.ts";
import { startTestAuthorization } from "../../mcp/oauth/test-authorization.ts";
import { type CommandFixture, hasPseudoTerminals } from "../test-command.ts";
import { openMcpFixture, SCRIPTED, stdio } from "./test-scene.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

describe.skipIf(!hasPseudoTerminals)("rookery mcp call", () => {
  it.each<[string, string, string]>([
    ["a value", "Ada\r", '{"action":"accept","content":{"name":"Ada"}}'],
    ["Tab", "\t", '{"action":"accept","content":{}}'],
    ["Esc", "\u001b", '{"action":"decline"}'],
    ["Ctrl-D", "\u0004", '{"action":"cancel"}'],
  ])("asks a form with keys and accepts %s", async (_, typed, answer) => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) });
    await using screen = fixture.screen(["mcp", "call", "s", "ask"]);
    await screen.waitFor(/\? s asks: Who are you\?\n[^]*answer: ?\nEnter answers · Tab skips · Esc declines/);
    screen.type(typed);
    expect(await screen.exited).toBe(0);
    expect(screen.visible()).toMatch(/^\? Who are you\? [^\n]*\n\{/);
    expect(screen.visible().split("\n").at(-1)).toBe(answer);
  });

  it("asks to open a page, whose link is printed in one piece", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) });
    await using screen = fixture.screen(["mcp", "call", "s", "visit-first"]);
    await screen.waitFor(/ {2}host: example\.com\nhttps:\/\/example\.com\/first\n[^]*Enter confirms · Esc declines/);
    screen.press("enter");
    expect(await screen.exited).toBe(0);
    expect(screen.visible()).toMatch(/— confirmed\nvisited$/);
  });

  it("is cancelled by Ctrl-C at a question", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) });
    await using screen = fixture.screen(["mcp", "call", "s", "ask"]);
    await screen.waitFor("Esc declines");
    screen.press("ctrl-c");
    expect(await screen.exited).toBe(130);
    expect(screen.visible()).not.toContain("action");
  });
});

describe.skipIf(!hasPseudoTerminals)("rookery mcp auth", () => {
  const WAITS = "? waiting up to 300 s for the login to finish · Esc declines · Ctrl-C gives up";

  async function openPage(screen: ProgramScreen): Promise<void> {
    const [, url = ""] = /^(https?:\/\/\S+)\r?$/m.exec(screen.bytes) ?? [];
    expect((await fetch(url)).status).toBe(200);
  }

  it.each<[string, number, (screen: ProgramScreen) => void | Promise<void>, RegExp]>([
    ["the page completes the login", 0, openPage, /\nlogged in to vault\navailable: 1 tool$/],
    [
      "Esc declines it",
      1,
      (screen) => screen.press("escape"),
      /rookery: the login to vault was declined; try again: rookery mcp auth vault$/,
    ],
    ["Ctrl-D cancels it", 1, (screen) => screen.press("ctrl-d"), /rookery: the login to vault was cancelled/],
    ["Ctrl-C gives up", 130, (screen) => screen.press("ctrl-c"), /rookery: cancelling/],
  ])("waits until %s", async (_, code, act, shown) => {
    await using vault = await startTestAuthorization();
    fixture = await openMcpFixture({ vault: { url: vault.url } });
    await using screen = fixture.screen(["mcp", "auth", "vault"], { columns: 100 });
    await screen.waitFor(WAITS);
    screen.type("y\r"); // only the page knows when the login is done
    await act(screen);
    expect(await screen.exited).toBe(code);
    expect(screen.all()).toMatch(shown);
    expect(screen.all()).not.toContain("Esc declines");
  });

  it.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("reads lines with %o", async (env) => {
    await using vault = await startTestAuthorization();
    fixture = await openMcpFixture({ vault: { url: vault.url } });
    await using screen = fixture.screen(["mcp", "auth", "vault"], { columns: 100, env });
    await screen.waitFor("(type /decline to give up)");
    screen.type("/decline\r");
    expect(await screen.exited).toBe(1);
  });
});
