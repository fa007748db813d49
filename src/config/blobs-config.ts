/** Decides where large blobs are stored: in S3-compatible storage if the user's file or the environment names it. */
import { dirname, resolve } from "node:path";
import { RookeryError } from "../domain/errors.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { BYTE_SIZE_RULE, parseByteSize } from "./byte-size.ts";
import { readTextFile } from "./files.ts";
import { userConfigFile } from "./home.ts";
import { readUserTable, readVariable } from "./user-table.ts";

/** Storage for large blobs. */
export interface BlobsConfig {
  /** `s3://…`, not parsed yet. */
  readonly url: string;
  /** The region of the environment, for a URL without one. */
  readonly region?: string | undefined;
  /** Blobs with more bytes are stored at the URL. */
  readonly over: number;
  /**
   * Reads a file each time, so that its keys can be rotated. Undefined if there are none. Rejects with
   * `config_invalid`.
   */
  readonly readCredentials: () => Promise<BlobCredentials | undefined>;
  /** Names of the variables that hold the credentials. No child may get them. */
  readonly credentialVariables: readonly string[];
}

export interface BlobCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

const DEFAULT_OVER = 1_000_000;

const OWN_VARIABLES = {
  accessKeyId: "ROOKERY_BLOBS_ACCESS_KEY_ID",
  secretAccessKey: "ROOKERY_BLOBS_SECRET_ACCESS_KEY",
  sessionToken: "ROOKERY_BLOBS_SESSION_TOKEN",
} as const;
const AWS_VARIABLES = {
  accessKeyId: "AWS_ACCESS_KEY_ID",
  secretAccessKey: "AWS_SECRET_ACCESS_KEY",
  sessionToken: "AWS_SESSION_TOKEN",
} as const;
type CredentialVariables = Readonly<Record<keyof BlobCredentials, string>>;

/**
 * `ROOKERY_BLOBS_URL` and `ROOKERY_BLOBS_OVER` override `[blobs]` of the user's file. A repository cannot choose the
 * storage. The keys come from the first of these that is set: variables that start with ROOKERY_BLOBS, the file,
 * variables that start with AWS. Undefined if blobs stay in the store. Rejects with `config_invalid`.
 */
export async function readBlobsConfig(env: EnvironmentVariables): Promise<BlobsConfig | undefined> {
  const table = await readUserTable(env, "blobs");
  const url = readVariable(env, "ROOKERY_BLOBS_URL") ?? table?.url;
  if (url === undefined) return undefined;
  return {
    url,
    region: readVariable(env, "AWS_REGION") ?? readVariable(env, "AWS_DEFAULT_REGION"),
    over: readOver(readVariable(env, "ROOKERY_BLOBS_OVER") ?? table?.over),
    ...chooseCredentials(env, table?.credentials_file),
  };
}

/** The environment without the credentials of the blobs, which no child gets. Rejects with `config_invalid`. */
export async function withoutBlobCredentials(env: EnvironmentVariables): Promise<EnvironmentVariables> {
  const { credentialVariables = [] } = (await readBlobsConfig(env)) ?? {};
  return Object.fromEntries(Object.entries(env).filter(([name]) => !credentialVariables.includes(name)));
}

function readOver(text: string | undefined): number {
  if (text === undefined) return DEFAULT_OVER;
  const over = parseByteSize(text);
  if (over === undefined)
    throw new RookeryError("config_invalid", `ROOKERY_BLOBS_OVER is not a size: ${BYTE_SIZE_RULE}`);
  return over;
}

/** Fails only when the credentials are used: a Rookery in a child has none, and may never need them. */
function chooseCredentials(
  env: EnvironmentVariables,
  named: string | undefined,
): Pick<BlobsConfig, "readCredentials" | "credentialVariables"> {
  const variables = [OWN_VARIABLES, ...(named === undefined ? [AWS_VARIABLES] : [])].find((names) =>
    Object.values(names).some((name) => readVariable(env, name) !== undefined),
  );
  if (variables !== undefined) {
    return {
      readCredentials: async () => readCredentialVariables(env, variables),
      credentialVariables: Object.values(variables),
    };
  }
  const file = userConfigFile(env);
  return {
    readCredentials: async () =>
      named === undefined ? undefined : readCredentialsFile(resolve(dirname(file), named), file),
    credentialVariables: [],
  };
}

function readCredentialVariables(env: EnvironmentVariables, names: CredentialVariables): BlobCredentials {
  const accessKeyId = readVariable(env, names.accessKeyId);
  const secretAccessKey = readVariable(env, names.secretAccessKey);
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    const sessionToken = readVariable(env, names.sessionToken);
    refuseControlCharacters({ accessKeyId, secretAccessKey, sessionToken }, "the variables of");
    return { accessKeyId, secretAccessKey, sessionToken };
  }
  const missing = accessKeyId === undefined ? names.accessKeyId : names.secretAccessKey;
  throw new RookeryError("config_invalid", `the credentials of the blobs are incomplete: set ${missing} too`);
}

/** Reads the profile `default` of a file as the AWS command line has it. A file without profiles is read as a whole. */
async function readCredentialsFile(path: string, file: string): Promise<BlobCredentials> {
  const read = await readTextFile(path);
  const where = `${file}: the file of blobs.credentials_file, ${path},`;
  if (read === undefined) throw new RookeryError("config_invalid", `${where} does not exist`);
  const values = new Map<string, string>();
  let isDefault = true;
  for (const line of read.text.split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1]?.trim();
    if (section !== undefined) isDefault = section === "default";
    const at = line.indexOf("=");
    if (section === undefined && isDefault && at > 0) values.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
  }
  const accessKeyId = values.get("aws_access_key_id") ?? "";
  const secretAccessKey = values.get("aws_secret_access_key") ?? "";
  if (accessKeyId === "" || secretAccessKey === "") {
    const rule = "write aws_access_key_id and aws_secret_access_key, below [default] if it has profiles";
    throw new RookeryError("config_invalid", `${where} has no keys: ${rule}`);
  }
  const sessionToken = values.get("aws_session_token");
  refuseControlCharacters({ accessKeyId, secretAccessKey, sessionToken }, `${where} with`);
  return { accessKeyId, secretAccessKey, sessionToken };
}

/** They become parts of headers, and the error of `Headers` for a wrong one repeats it. */
function refuseControlCharacters(credentials: BlobCredentials, where: string): void {
  if (Object.values(credentials).every((text) => !/[^\x20-\x7e]/.test(String(text)))) return;
  const fix = "they may contain only printable ASCII characters; remove line breaks and others";
  throw new RookeryError("config_invalid", `${where} the credentials of the blobs have invalid characters: ${fix}`);
}
