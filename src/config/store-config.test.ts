import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { childEnvironment, withoutRookerySecrets } from "../domain/child-environment.ts";
import { temporaryFolder, temporaryRepository } from "../testing/index.ts";
import { describeConfig } from "./describe.ts";
import { readStoreConfig, withoutStorePassword } from "./store-config.ts";
import { trust } from "./trust.ts";

const URL = "postgres://me:hidden@db.example/log";

/** An environment whose user has this configuration file. */
async function userWith(folder: string, text: string): Promise<Record<string, string>> {
  await mkdir(join(folder, "rookery"), { recursive: true });
  await writeFile(join(folder, "rookery", "rookery.toml"), text);
  return { HOME: folder, XDG_CONFIG_HOME: folder };
}

it("uses the file in the home unless something names a database", async () => {
  await using folder = await temporaryFolder();
  expect(await readStoreConfig({ HOME: folder.path })).toBeUndefined();
  const env = await userWith(folder.path, '[agents.store]\nmodel = "openai/gpt-6"\n');
  expect(await readStoreConfig({ ...env, ROOKERY_STORE_URL: "" })).toBeUndefined();
});

it("reads the database from the user's file, and from the environment first", async () => {
  await using folder = await temporaryFolder();
  const env = await userWith(folder.path, `[store]\nurl = "${URL}"\nschema = "team"\n`);
  expect(await readStoreConfig(env)).toEqual({ url: URL, schema: "team", listenUrl: undefined, password: undefined });
  const other = { ...env, ROOKERY_STORE_URL: "postgres://me@other/log", ROOKERY_STORE_SCHEMA: "mine", PGPASSWORD: "p" };
  expect(await readStoreConfig(other)).toMatchObject({ url: "postgres://me@other/log", schema: "mine", password: "p" });
});

it("reads the password from a file beside the configuration, without its line end", async () => {
  await using folder = await temporaryFolder();
  const env = await userWith(folder.path, `[store]\nurl = "postgres://me@db/log"\npassword_file = "password"\n`);
  await expect(readStoreConfig(env)).rejects.toThrow(/store\.password_file.* does not exist/);
  await writeFile(join(folder.path, "rookery", "password"), " hidden \n");
  expect(await readStoreConfig(env)).toMatchObject({ password: " hidden " });
  expect(await readStoreConfig({ ...env, ROOKERY_STORE_PASSWORD: "first" })).toMatchObject({ password: "first" });
});

it("ignores the table in a trusted repository, and shows no password", async () => {
  await using repository = await temporaryRepository({ "rookery.toml": `[store]\nurl = "${URL}"\n` });
  await using folder = await temporaryFolder();
  const env = await userWith(folder.path, "");
  expect(await readStoreConfig(env)).toBeUndefined();
  await trust(repository.path, env);
  const { values } = await describeConfig(repository.path, env);
  expect(values).toMatchObject([{ key: "store.url", value: "postgres://…@db.example/log", applies: false }]);
});

it("gives no child the URL and the password", () => {
  const secrets = { ROOKERY_STORE_URL: URL, ROOKERY_STORE_LISTEN_URL: URL, ROOKERY_STORE_PASSWORD: "hidden" };
  const env = { ...secrets, ROOKERY_STORE_SCHEMA: "team" };
  expect(childEnvironment(env, { pass: Object.keys(env) })).toEqual({ ROOKERY_STORE_SCHEMA: "team" });
  expect(withoutRookerySecrets(env)).toEqual({ ROOKERY_STORE_SCHEMA: "team" });
});

it.each<[string, Record<string, string>, boolean]>([
  ["is the password of the store", { ROOKERY_STORE_URL: "postgres://me@db.example/log" }, false],
  ["is the password of a listener", { ROOKERY_STORE_URL: URL, ROOKERY_STORE_LISTEN_URL: "postgres://me@a/log" }, false],
  [
    "belongs to a URL without a password, on several servers",
    { ROOKERY_STORE_URL: "postgres://me@a:1,b:2/log" },
    false,
  ],
  [
    "is not used, because there is another one",
    { ROOKERY_STORE_URL: "postgres://me@a/log", ROOKERY_STORE_PASSWORD: "x" },
    true,
  ],
  ["is not used, because the URL has one", { ROOKERY_STORE_URL: URL }, true],
  ["is for other databases only", {}, true],
])("gives children PGPASSWORD depending on whether it %s", async (_, variables, isPassed) => {
  await using folder = await temporaryFolder();
  const env = { HOME: folder.path, PGPASSWORD: "hidden", PATH: "/bin", ...variables };
  const children = childEnvironment(withoutRookerySecrets(await withoutStorePassword(env)));
  expect(children["PGPASSWORD"]).toBe(isPassed ? "hidden" : undefined);
  expect(children["PATH"]).toBe("/bin");
});
