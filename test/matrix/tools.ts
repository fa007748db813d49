/** Tools that append a line to a file for each run. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { ToolResult, ToolSource, ToolSpec } from "../../src/domain/index.ts";
import { reach } from "./boundaries.ts";

const SCHEMA = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

const spec = (name: string, more: Partial<ToolSpec> = {}): ToolSpec => ({
  ...{ name, description: `Counts a ${name}.`, inputSchema: SCHEMA, kind: "other", readOnly: false },
  ...more,
});

const SPECS: readonly ToolSpec[] = [spec("look", { readOnly: true }), spec("mark"), spec("both", { repeatable: true })];
/** The tools change within the first step: `look a` replaces `early` by `stamp`. */
const BEFORE_LOOK: readonly ToolSpec[] = [...SPECS, spec("early")];
const AFTER_LOOK: readonly ToolSpec[] = [...SPECS, spec("stamp", { concurrent: true })];

export function countingTools(options: {
  readonly runs: string;
  /** Called while `look a` runs. */
  readonly onLook: () => Promise<void>;
}): ToolSource {
  let specs =
    existsSync(options.runs) && readFileSync(options.runs, "utf8").includes("look a\n") ? AFTER_LOOK : BEFORE_LOOK;
  return {
    id: "counting",
    list: () => specs,
    describe: ({ name, input }) => ({ title: `${name} ${idOf(input)}` }),
    async call({ name, input }, { call }) {
      const id = idOf(input);
      await new Promise(setImmediate); // lets concurrent calls start
      appendFileSync(options.runs, `${name} ${id}\n`);
      reach(`tool ${name} ${id} ran`);
      if (id === "a") {
        specs = AFTER_LOOK;
        await options.onLook();
      }
      if (name !== "both" || call === undefined) return ok(`${name} ${id} is counted`);
      const made = [await call("mark", { id: `${id}1` }), await call("look", { id: `${id}2` })];
      return ok(made.map(({ text }) => text).join("\n"));
    },
  };
}

function idOf(input: unknown): string {
  return String((input as { id?: unknown } | undefined)?.id);
}

function ok(text: string): ToolResult {
  return { outcome: "ok", text };
}
