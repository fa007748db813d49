import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Rookery } from "../rookery.ts";
import { DisposeStack } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { builtEnvironment, call, say, startModelServer, temporaryFolder } from "../testing/index.ts";
import { startMutatingProxy } from "./test-mutating-proxy.ts";

const isWhole = process.env["ROOKERY_FUZZ"] === "all";
const CASES = isWhole ? 2_000 : process.env["ROOKERY_SLOW"] === "1" ? 10 : 3;
const AT_ONCE = Math.min(24, CASES);
const FIRST_SEED = Number(process.env["ROOKERY_FUZZ_SEED"] ?? 1);

const MODELS = {
  anthropic: "anthropic/claude-sonnet-4-5",
  openai: "openai/gpt-5.4",
  google: "google/gemini-2.5-pro",
  "openai-compatible": "vllm/qwen3-coder",
} as const;

it.each(Object.entries(MODELS))(
  "keeps a session on %s usable after random changes to the lines of a reply",
  async (_, model) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      await using scene = await openScene(model);
      const problems: string[] = [];
      let next = FIRST_SEED;
      const work = async () => {
        while (next < FIRST_SEED + CASES) {
          const problem = await playOne(scene.rookery, next++);
          if (problem !== undefined) problems.push(problem);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      expect(problems).toEqual([]);
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  },
  isWhole ? 3_600_000 : 120_000,
);

async function playOne(rookery: Rookery, seed: number): Promise<string | undefined> {
  await using session = await rookery.openSession({ agent: "it", permissions: "all" });
  const first = await session.prompt(`seed ${seed}`).outcome;
  if (first.status === "failed" && first.code === "internal") return `seed ${seed}: ${JSON.stringify(first)}`;
  const second = await session.prompt("Are you well?").outcome;
  return second.status === "done" ? undefined : `seed ${seed}: the next turn ended ${JSON.stringify(second)}`;
}

async function openScene(model: string) {
  await using opening = new DisposeStack();
  const folder = opening.use(await temporaryFolder());
  const store = opening.use(openMemoryStore());
  const reply = [call("read", { path: "a.txt" }), say("It says hello.")] as const;
  const server = opening.use(
    await startModelServer(({ toolResults }) => (toolResults.length === 0 ? reply[0] : reply[1]), {
      maxRequests: 1_000_000,
    }),
  );
  const proxy = opening.use(await startMutatingProxy(server.url));
  const env = builtEnvironment({ home: folder.path });
  const cwd = join(folder.path, "work");
  await mkdir(cwd);
  await writeFile(join(cwd, "a.txt"), "hello");
  const config = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(config, { recursive: true });
  const agent = [
    "[agents.it]",
    'backend = "api"',
    `model = "${model}"`,
    `base_url = "${proxy.url}"`,
    'env = { ANTHROPIC_API_KEY = "fake", OPENAI_API_KEY = "fake", GEMINI_API_KEY = "fake", VLLM_API_KEY = "fake" }',
  ];
  await writeFile(join(config, "rookery.toml"), `${agent.join("\n")}\n`);
  const rookery = opening.use(await Rookery.open({ env, cwd, store }));
  const owned = opening.move();
  return { rookery, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}
