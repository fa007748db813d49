import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { backendContract, type Behavior, type Subject } from "../src/backends/contract/index.ts";
import { SHARED_RECORDINGS } from "../src/backends/contract/stand-in.ts";
import { realProgram, type RealProgram } from "./contract/real.ts";
import { Recording } from "./contract/recording.ts";
import { Table } from "./contract/table.ts";
import { programs } from "./programs/index.mjs";

const RECORDED = fileURLToPath(new URL("../test/support/recorded", import.meta.url));
const NOT_HERE = "what it says then is written by hand, and played by its stand-in";
const OVER_ACP = "where it has servers it is driven over ACP";

const PROGRAMS: readonly RealProgram[] = [
  {
    name: "claude",
    recipe: "claude",
    sessions: [".claude/projects"],
    login: ["ANTHROPIC_API_KEY"],
    skips: { limit: NOT_HERE },
  },
  {
    name: "claude-pty",
    recipe: "claude",
    toml: "pty = true",
    sessions: [".claude/projects"],
    login: ["ANTHROPIC_API_KEY"],
    skips: { limit: NOT_HERE },
  },
  {
    name: "codex",
    recipe: "codex",
    sessions: [".codex/sessions"],
    loggedOut: { ".codex/config.toml": "check_for_update_on_startup = false\n" },
    skips: { limit: NOT_HERE },
  },
  {
    name: "codex-exec",
    recipe: "codex",
    without: "app-server",
    sessions: [".codex/sessions"],
    loggedOut: { ".codex/config.toml": "check_for_update_on_startup = false\n" },
    skips: { limit: NOT_HERE },
  },
  {
    name: "gemini",
    recipe: "gemini",
    sessions: [".gemini/tmp"],
    login: ["GEMINI_API_KEY"],
    skips: { limit: NOT_HERE },
  },
  {
    name: "gemini-headless",
    recipe: "gemini",
    sessions: [".gemini/tmp"],
    login: ["GEMINI_API_KEY"],
    skips: { limit: NOT_HERE, mcp: OVER_ACP, brought: OVER_ACP, mode: "what is allowed needs no mode" },
  },
  {
    name: "opencode",
    recipe: "opencode",
    sessions: [".local/share/opencode"],
    skips: { limit: NOT_HERE, login: "its keys are in its own settings, and providers without one are served too" },
  },
];

/** `RECORD=1` records the cases that pass. `PROGRAM=claude,codex` runs only these programs. */
const isRecording = process.env["RECORD"] === "1";
const wanted = process.env["PROGRAM"]?.split(",");
const table = new Table();

for (const real of PROGRAMS.filter(({ name }) => wanted?.includes(name) ?? true)) {
  const recordings = new Map<Behavior, Recording>();
  const record = (behavior: Behavior) => {
    const { name: program, version } = programs[real.recipe];
    const recorded = new Date().toISOString().slice(0, 10);
    const recording = new Recording({ program, version, recorded });
    recordings.set(behavior, recording);
    return recording;
  };
  const subject: Subject = realProgram(real, isRecording ? record : undefined);
  backendContract(subject, {
    concurrent: !isRecording, // two at a time, see the configuration; recordings run one at a time
    onResult: async (_, behavior, verdict) => {
      table.add(subject.name, behavior, verdict);
      const recording = recordings.get(behavior);
      if (verdict === "passed" && SHARED_RECORDINGS[behavior] === undefined)
        await recording?.keep(join(RECORDED, real.name, `${behavior}.ndjson`));
      recording?.discard();
    },
  });
}

afterAll(() => void process.stdout.write(`\n${table.toString()}\n\n`));
