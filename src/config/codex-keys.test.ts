import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/index.ts";
import { codexKeyVariables } from "./codex-keys.ts";

const PROVIDERS = `
[model_providers.corp]
base_url = "http://127.0.0.1:1/v1"
env_key = "CORP_LLM_TOKEN"
env_http_headers = { "X-Team" = "TEAM_SECRET" }

[model_providers.local]
base_url = "http://127.0.0.1:2/v1"
`;

async function codexConfig(text: string): Promise<{ home: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, ".codex"));
  await writeFile(join(folder.path, ".codex", "config.toml"), text);
  return { home: folder.path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

it("finds the key and header variables of the configured providers", async () => {
  await using codex = await codexConfig(PROVIDERS);
  expect(codexKeyVariables({ HOME: codex.home })).toEqual(["CORP_LLM_TOKEN", "TEAM_SECRET"]);
  expect(codexKeyVariables({ HOME: "/nowhere", CODEX_HOME: join(codex.home, ".codex") })).toHaveLength(2);
});

it.each([
  ["a file that is not TOML", "model_providers = ["],
  ["providers that are not tables", "model_providers = 5"],
  ["no providers", 'model = "m"'],
  ["a key that is not a string", "[model_providers.a]\nenv_key = 5"],
  ["a file above 1 MB", `${PROVIDERS}# ${"x".repeat(1024 * 1024)}`],
])("finds none in %s", async (_, text) => {
  await using codex = await codexConfig(text);
  expect(codexKeyVariables({ HOME: codex.home })).toEqual([]);
});

it("finds none without a file", () => {
  expect(codexKeyVariables({ HOME: "/nowhere" })).toEqual([]);
});
