import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { newId, type EventBody, type EventDraft } from "../../domain/index.ts";
import { openSqliteStore } from "../../store/index.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import { temporaryFolder } from "../../testing/index.ts";
import type { OptionValues } from "../command.ts";
import { displayWidth } from "../display-width.ts";
import { runAction } from "../test-io.ts";
import { parseSince } from "./since.ts";
import { formatUsageTable } from "./table.ts";
import { usageCommand } from "./usage.ts";

const NOW = Date.parse("2026-03-10T12:00:00.000Z");
const DAY = 86_400_000;

type Report = Omit<Extract<EventBody, { type: "usage.reported" }>, "type" | "inputTokens" | "outputTokens"> & {
  agent?: string;
  daysAgo?: number;
};

let home: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  home = await temporaryFolder();
  return () => home[Symbol.asyncDispose]();
});

/** Creates sessions of the agent `claude`. Each report has 1,000 input and 10 output tokens. */
async function logged(...sessions: (readonly Report[])[]): Promise<void> {
  await using store = await openSqliteStore({ path: join(home.path, "rookery.db") });
  for (const reports of sessions) {
    const at = new Date(NOW - 100 * DAY).toISOString();
    const opened = { type: "session.opened", cwd: "/", backend: "api", model: "m1", permissions: "ask" } as const;
    const events: EventDraft[] = reports.map(({ agent = "claude", daysAgo = 0, ...more }) => ({
      type: "usage.reported",
      inputTokens: 1000,
      outputTokens: 10,
      ...more,
      agent,
      at: new Date(NOW - daysAgo * DAY).toISOString(),
    }));
    const all = [{ ...opened, agent: "claude", at }, ...events];
    await store.append({ sessionId: newId("ses", NOW), id: newId("app", NOW), expectedHead: 0, events: all });
  }
}

const shown = (options: OptionValues = {}) => runAction(usageCommand, home.path, { options });
const lines = (text: string) => text.trimEnd().split("\n");

describe("the usage of all sessions", () => {
  it("sums usage by agent and model, with a total", async () => {
    await logged(
      [
        { costUsd: 1, costBy: "reported" },
        { model: "m2", costUsd: 2, costBy: "reported", cacheReadTokens: 500 },
      ],
      [
        { costUsd: 0.5, costBy: "reported" },
        { agent: "codex", model: "gpt", costUsd: 4, costBy: "computed" },
      ],
    );
    expect(lines(await shown())).toEqual([
      "agent and model  tokens in  cached  tokens out    cost",
      "claude               3,000     500          30   $3.50",
      "  m1                 2,000       0          20   $1.50",
      "  m2                 1,000     500          10   $2.00",
      "codex gpt            1,000       0          10  ~$4.00",
      "all                  4,000     500          40  ~$7.50",
      "",
      "~ computed from prices, not reported by the agent's program",
    ]);
  });

  it("totals the known cost, and lists the tokens whose cost is unknown", async () => {
    await logged(
      [{ costUsd: 1 }, {}],
      [
        { agent: "codex", costUsd: 1 },
        { agent: "gemini", model: "g" },
      ],
    );
    const [table = "", unknown] = (await shown()).split("\n\n");
    expect(lines(table).map((line) => line.split(/ {2,}/).at(-1))).toEqual([
      "cost",
      "$1.00+?",
      "$1.00",
      "?",
      "$2.00+?",
    ]);
    expect(unknown).toBe(
      '? The cost of these tokens is unknown; set a price in rookery.toml: [prices."provider/model"]\n' +
        "  claude, m1: 1,010 tokens\n  gemini, g: 1,010 tokens\n",
    );
  });

  it("fits 60 columns, and cuts only names", async () => {
    const models = ["anthropic/claude-sonnet-5", "openai/a-model-with-a-name-that-is-longer-than-all-others"];
    const used = { inputTokens: 123_456_789, outputTokens: 12_345_678, cacheReadTokens: 99_000_000 };
    const usage = { ...NO_USAGE, ...used, costUsd: 0.186, costBy: "computed" } as const;
    const all = { all: usage, priced: usage };
    const sums = [{ agent: "anthropic", ...all, models: models.map((model) => ({ model, ...all })) }];
    const table = formatUsageTable(sums, { width: 60 });
    expect(lines(table)).toEqual([
      "agent and model              tokens in  tokens out      cost",
      "anthropic                  123,456,789  12,345,678  ~$0.1860",
      "  anthropic/claude-sonne…  123,456,789  12,345,678  ~$0.1860",
      "  openai/a-model-with-a-…  123,456,789  12,345,678  ~$0.1860",
    ]);
    expect(lines(table).every((line) => displayWidth(line) <= 60)).toBe(true);
  });

  it("counts only the usage of --agent in all sessions", async () => {
    await logged([{ costUsd: 1 }, { agent: "codex", costUsd: 2 }], [{ agent: "codex", costUsd: 3 }]);
    expect(lines(await shown({ agent: "codex" }))).toEqual([
      "agent and model  tokens in  cached  tokens out   cost",
      "codex m1             2,000       0          20  $5.00",
    ]);
  });

  it("counts only usage reported since --since", async () => {
    await logged(
      [
        { costUsd: 1, daysAgo: 9 },
        { costUsd: 2, daysAgo: 3 },
      ],
      [{ costUsd: 4, daysAgo: 20 }],
    );
    expect(lines(await shown({ since: "2026-03-05" })).at(-1)).toMatch(/\$2\.00$/);
    expect(lines(await shown({ since: "2026-02-01" })).at(-1)).toMatch(/\$7\.00$/);
    expect(await shown({ since: "2026-04-01" })).toContain("no usage was reported");
  });

  it("prints one line of JSON per agent", async () => {
    await logged([
      { costUsd: 1, costBy: "computed" },
      { agent: "codex", model: "gpt" },
    ]);
    const values = lines(await shown({ json: true })).map((line) => JSON.parse(line) as unknown);
    const used = { inputTokens: 1000, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    const cost = { costUsd: 1, costBy: "computed" };
    const unpriced = { knownCostUsd: 0, unpricedTokens: 1010 };
    expect(values).toEqual([
      { agent: "claude", ...used, ...cost, models: [{ model: "m1", ...used, ...cost }] },
      { agent: "codex", ...used, ...unpriced, models: [{ model: "gpt", ...used, ...unpriced }] },
    ]);
  });

  it("suggests a command for an empty log", async () => {
    expect(await shown()).toBe('no usage was reported yet; start a session: rookery run "PROMPT"\n');
    expect(await shown({ json: true })).toBe("");
  });
});

describe("--since", () => {
  it.each([
    ["30m", NOW - 30 * 60_000],
    ["12h", NOW - DAY / 2],
    ["7d", NOW - 7 * DAY],
    ["2w", NOW - 14 * DAY],
    ["2026-01-31", new Date(2026, 0, 31).getTime()],
    ["2026-01-31T10:00:00Z", Date.parse("2026-01-31T10:00:00Z")],
  ])("parses %s", (text, at) => {
    expect(parseSince(text, NOW)).toBe(at);
  });

  it.each(["", "7", "d", "7y", "yesterday", "2026-13-01", "-3d"])("rejects %j with a message", (text) => {
    expect(() => parseSince(text, NOW)).toThrow("--since must be 30m, 12h, 7d, 4w or a date such as 2026-01-31");
  });
});
