import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NO_CAPABILITIES } from "../../domain/index.ts";
import { builtEnvironment } from "../../testing/index.ts";
import { backendContract, type ContractScene, type Subject } from "../contract/index.ts";
import { createContractFolders } from "../contract/folders.ts";

const PROGRAM = [process.execPath, fileURLToPath(new URL("test-contract-agent.mjs", import.meta.url))];
const NO_TOOLS = "it tells of no tools";
const skips: Subject["skips"] = {
  write: NO_TOOLS,
  limit: "nobody knows the words of any program",
  login: "nobody knows the words of any program",
};

async function open(...lines: string[]): Promise<ContractScene> {
  const place = await createContractFolders();
  const heard = join(place.home, "heard");
  return {
    ...place,
    env: builtEnvironment({ home: place.home, extra: { ROOKERY_NOISE_LINE: String(33 * 1024 * 1024) } }),
    toml: ['backend = "command"', ...lines].join("\n"),
    isReal: false,
    received: () => (existsSync(heard) ? readFileSync(heard, "utf8") : ""),
    async forget() {
      const sessions = readdirSync(place.home).filter((name) => name.startsWith("session-"));
      await Promise.all(sessions.map((name) => rm(join(place.home, name))));
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

backendContract(
  {
    name: "any program that prints JSON lines",
    backend: "command",
    capabilities: { ...NO_CAPABILITIES, resume: true, models: true },
    skips,
    open: () =>
      open(
        `command = ${JSON.stringify([...PROGRAM, "--model", "{model}", "{prompt}"])}`,
        `resume_command = ${JSON.stringify([...PROGRAM, "--resume", "{session}", "{prompt}"])}`,
        'model = "some-model"',
        'session_path = "session"',
        'text_path = "text"',
      ),
  },
  { concurrent: true },
);

backendContract(
  {
    name: "any program that prints words on a terminal",
    backend: "command",
    capabilities: NO_CAPABILITIES,
    streams: false,
    prints: true,
    skips,
    open: () => open(`command = ${JSON.stringify([...PROGRAM, "--plain", "{prompt}"])}`, "pty = true"),
  },
  { concurrent: true },
);
