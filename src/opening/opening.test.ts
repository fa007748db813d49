import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Rookery } from "../rookery.ts";
import { builtEnvironment, say, startModelServer, temporaryFolder } from "../testing/index.ts";

const KEYS = { ANTHROPIC_API_KEY: "fake", OPENAI_API_KEY: "fake" };

/** Records a session with the configuration `before`, then opens it again with the configuration `after`. */
async function reopenSession(
  before: string,
  after: string,
  { model, keys = KEYS }: { model?: string; keys?: object } = {},
) {
  await using home = await temporaryFolder();
  await using server = await startModelServer([say("Ok.")]);
  const config = join(home.path, ".config/rookery/rookery.toml");
  await mkdir(join(home.path, ".config/rookery"), { recursive: true });
  const cwd = join(home.path, "work");
  await mkdir(cwd);
  const mine = `\n[providers.mine]\nbase_url = "${server.url}"\n`;
  const env = (extra: object) =>
    builtEnvironment({ home: home.path, extra: { ...extra, OPENAI_BASE_URL: server.url } });
  await writeFile(config, `[agents.a]\nmodel = "${before}"${mine}`);
  const first = await Rookery.open({ env: env(KEYS) });
  const session = await first.openSession({ cwd, agent: "a", ...(model !== undefined && { model }) });
  const { id } = session;
  await first.close();
  await writeFile(config, `[agents.a]\nmodel = "${after}"${after.startsWith("mine") ? mine : ""}`);
  const second = await Rookery.open({ env: env(keys) });
  try {
    const again = await second.openSession({ id });
    return { id, model: again.state.model };
  } catch (error) {
    return { id, error };
  } finally {
    await second.close();
  }
}

it.each([
  ["unknown", "mine/m", "anthropic/claude-sonnet-5", KEYS, "provider_unknown", ["(mine/m)", "--model anthropic/"]],
  [
    "different",
    "openai/gpt-5.4",
    "anthropic/claude-sonnet-5",
    KEYS,
    "provider_mismatch",
    ["--model openai/gpt-5.4 or --model anthropic/claude-sonnet-5"],
  ],
  [
    "missing",
    "openai/gpt-5.4",
    "openai/gpt-6.1-sol",
    {},
    "provider_unconfigured",
    ["uses openai/gpt-5.4 (agent a), but OPENAI_API_KEY is not set", "--model provider/model"],
  ],
])(
  "rejects a session whose recorded provider is %s now, and names the session and what to do",
  async (_, before, after, keys, code, words) => {
    const { id, error } = await reopenSession(before, after, { keys });
    expect(error).toMatchObject({ code });
    for (const word of [id, "agent a", ...words]) expect(String(error)).toContain(word);
  },
);

it("keeps the model that was chosen for the session, even if the configuration of the agent changes", async () => {
  const chosen = { model: "openai/gpt-5.4" };
  expect(await reopenSession("anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5", chosen)).toMatchObject(chosen);
});
