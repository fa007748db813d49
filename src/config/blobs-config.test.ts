import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { childEnvironment, withoutRookerySecrets } from "../domain/child-environment.ts";
import { temporaryFolder, temporaryRepository } from "../testing/index.ts";
import { readBlobsConfig, withoutBlobCredentials } from "./blobs-config.ts";
import { parseByteSize } from "./byte-size.ts";
import { describeConfig } from "./describe.ts";
import { trust } from "./trust.ts";

const URL = "s3://bucket/team?endpoint=https://s3.example";
const AWS = { AWS_ACCESS_KEY_ID: "aws-id", AWS_SECRET_ACCESS_KEY: "aws-secret", AWS_SESSION_TOKEN: "aws-token" };
const OWN = { ROOKERY_BLOBS_ACCESS_KEY_ID: "own-id", ROOKERY_BLOBS_SECRET_ACCESS_KEY: "own-secret" };

/** An environment whose user has this configuration file. */
async function userWith(folder: string, text: string): Promise<Record<string, string>> {
  await mkdir(join(folder, "rookery"), { recursive: true });
  await writeFile(join(folder, "rookery", "rookery.toml"), text);
  return { HOME: folder, XDG_CONFIG_HOME: folder };
}

it("keeps all blobs in the store unless something names a bucket", async () => {
  await using folder = await temporaryFolder();
  expect(await readBlobsConfig({ HOME: folder.path })).toBeUndefined();
  const env = await userWith(folder.path, '[blobs]\nover = "2MB"\n');
  expect(await readBlobsConfig({ ...env, ...AWS, ROOKERY_BLOBS_URL: "" })).toBeUndefined();
});

it("reads the bucket and the limit from the user's file, and from the environment first", async () => {
  await using folder = await temporaryFolder();
  const env = await userWith(folder.path, `[blobs]\nurl = "${URL}"\n`);
  expect(await readBlobsConfig(env)).toMatchObject({ url: URL, over: 1_000_000, region: undefined });
  const limited = await userWith(folder.path, `[blobs]\nurl = "${URL}"\nover = "64KiB"\n`);
  expect(await readBlobsConfig({ ...limited, AWS_REGION: "eu-west-1" })).toMatchObject({
    over: 65_536,
    region: "eu-west-1",
  });
  const other = { ...limited, ROOKERY_BLOBS_URL: "s3://other", ROOKERY_BLOBS_OVER: "0", AWS_DEFAULT_REGION: "x" };
  expect(await readBlobsConfig(other)).toMatchObject({ url: "s3://other", over: 0, region: "x" });
  await expect(readBlobsConfig({ ...limited, ROOKERY_BLOBS_OVER: "much" })).rejects.toThrow(
    'ROOKERY_BLOBS_OVER is not a size: expected a size such as "500KB", "1MB" or "1MiB"',
  );
  const wrong = await userWith(folder.path, `[blobs]\nurl = "${URL}"\nover = "-1MB"\n`);
  await expect(readBlobsConfig(wrong)).rejects.toThrow(/blobs\.over.*expected a size such as/);
});

it.each([
  ["0", 0],
  ["10", 10],
  ["1.5 MB", 1_500_000],
  ["2mib", 2_097_152],
  ["1GB", 1_000_000_000],
  ["", undefined],
  ["MB", undefined],
  ["1e6", undefined],
  ["1TB", undefined],
  ["1 M B", undefined],
  ["Infinity", undefined],
])("reads the size %j as %j", (text, size) => {
  expect(parseByteSize(text)).toBe(size);
});

it("prefers the keys in Rookery's own variables, then the file, then the variables of AWS", async () => {
  await using folder = await temporaryFolder();
  const plain = await userWith(folder.path, `[blobs]\nurl = "${URL}"\n`);
  const credentials = async (env: Record<string, string>) => (await readBlobsConfig(env))?.readCredentials();
  expect(await credentials(plain)).toBeUndefined();
  const aws = { accessKeyId: "aws-id", secretAccessKey: "aws-secret", sessionToken: "aws-token" };
  expect(await credentials({ ...plain, ...AWS })).toEqual(aws);
  const own = { accessKeyId: "own-id", secretAccessKey: "own-secret", sessionToken: undefined };
  expect(await credentials({ ...plain, ...AWS, ...OWN })).toEqual(own);

  const env = { ...(await userWith(folder.path, `[blobs]\nurl = "${URL}"\ncredentials_file = "keys"\n`)), ...AWS };
  await expect(credentials(env)).rejects.toThrow(/blobs\.credentials_file.* does not exist/);
  const keys = join(folder.path, "rookery", "keys");
  await writeFile(keys, "[other]\naws_access_key_id = x\naws_secret_access_key = x\n");
  await expect(credentials(env)).rejects.toThrow(/has no keys: write aws_access_key_id .* below \[default\]/);
  const configured = await readBlobsConfig(env);
  const profile = "[default] # mine\r\naws_access_key_id = file-id\r\naws_secret_access_key=a=b/c+d==\r\n[other]\n";
  await writeFile(keys, `${profile}aws_secret_access_key = x\n`);
  const file = { accessKeyId: "file-id", secretAccessKey: "a=b/c+d==", sessionToken: undefined };
  expect(await configured?.readCredentials(), "read again, so that keys can be rotated").toEqual(file);
  expect(await credentials({ ...env, ...OWN })).toEqual(own);
  await writeFile(keys, "aws_access_key_id = a\naws_secret_access_key = b\naws_session_token = c\n");
  expect(await credentials(env)).toEqual({ accessKeyId: "a", secretAccessKey: "b", sessionToken: "c" });
});

it("says which half of the keys is missing, but only when they are used", async () => {
  await using folder = await temporaryFolder();
  const env = await userWith(folder.path, `[blobs]\nurl = "${URL}"\n`);
  const half = await readBlobsConfig({ ...env, AWS_ACCESS_KEY_ID: "id" });
  await expect(half?.readCredentials()).rejects.toThrow(
    "the credentials of the blobs are incomplete: set AWS_SECRET_ACCESS_KEY too",
  );
  const other = await readBlobsConfig({ ...env, ...AWS, ROOKERY_BLOBS_SECRET_ACCESS_KEY: "hidden" });
  await expect(other?.readCredentials()).rejects.toThrow("set ROOKERY_BLOBS_ACCESS_KEY_ID too");
});

it("ignores the table in a trusted repository", async () => {
  await using repository = await temporaryRepository({ "rookery.toml": `[blobs]\nurl = "${URL}&region=x"\n` });
  await using folder = await temporaryFolder();
  const env = await userWith(folder.path, "");
  expect(await readBlobsConfig(env)).toBeUndefined();
  await trust(repository.path, env);
  const { values } = await describeConfig(repository.path, env);
  expect(values).toMatchObject([{ key: "blobs.url", value: "s3://bucket/team?…", applies: false }]);
});

it("withholds the keys of blobs from children, and leaves other variables as they are", async () => {
  await using folder = await temporaryFolder();
  const env = { ...(await userWith(folder.path, `[blobs]\nurl = "${URL}"\n`)), ...AWS };
  const names = async (all: Record<string, string>, needs: "claude" | "any") =>
    Object.keys(childEnvironment(withoutRookerySecrets(await withoutBlobCredentials(all)), { needs })).filter((name) =>
      /AWS|BLOBS/.test(name),
    );
  expect(await names(env, "claude")).toEqual([]);
  expect(await names({ ...env, ...OWN, ROOKERY_BLOBS_URL: URL }, "any"), "Bedrock").toEqual(Object.keys(AWS));
  expect(await names({ HOME: folder.path, XDG_CONFIG_HOME: "/none", ...AWS }, "claude")).toEqual(Object.keys(AWS));
});

it("refuses keys that no header can contain, and does not repeat them", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "keys"), "aws_access_key_id=id\naws_secret_access_key=hid\tden\n");
  const env = await userWith(folder.path, '[blobs]\ncredentials_file = "../keys"\n');
  const wrong = [
    { ...AWS, AWS_SESSION_TOKEN: "hid\nden", XDG_CONFIG_HOME: folder.path + "/none" },
    { ...OWN, ROOKERY_BLOBS_SECRET_ACCESS_KEY: "hid\u20acden" },
    {},
  ];
  for (const variables of wrong) {
    const config = await readBlobsConfig({ ...env, ROOKERY_BLOBS_URL: URL, ...variables });
    const error: unknown = await config?.readCredentials().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "config_invalid" });
    expect(String(error)).not.toContain("hid");
  }
});
