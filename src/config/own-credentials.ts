/** Withholds from children the general credentials that Rookery itself uses: the store's password and the blobs' keys. */
import { childEnvironment, programEnvironment, type ChildEnvironmentOptions } from "../domain/child-environment.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { withoutBlobCredentials } from "./blobs-config.ts";
import { withoutStorePassword } from "./store-config.ts";

/** Withheld if the configuration cannot be read, because then nobody knows what they are for. */
const POSSIBLE_CREDENTIALS = /^(PGPASSWORD|AWS_ACCESS_KEY_ID|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN)$/;

/** The environment without the credentials of the configured store and blobs. Never rejects. */
export async function withoutOwnCredentials(env: EnvironmentVariables): Promise<EnvironmentVariables> {
  try {
    return await withoutBlobCredentials(await withoutStorePassword(env));
  } catch {
    return Object.fromEntries(Object.entries(env).filter(([name]) => !POSSIBLE_CREDENTIALS.test(name)));
  }
}

/**
 * The environment of a child of a command. Commands have the environment of the person, so they call this and not
 * `childEnvironment`, which does not know the configuration. Never rejects.
 */
export async function commandChildEnvironment(
  env: EnvironmentVariables,
  options: ChildEnvironmentOptions = {},
): Promise<EnvironmentVariables> {
  return childEnvironment(await withoutOwnCredentials(env), options);
}

/** Like `commandChildEnvironment`, for the program of an agent. Never rejects. */
export async function commandProgramEnvironment(
  env: EnvironmentVariables,
  options: ChildEnvironmentOptions = {},
): Promise<EnvironmentVariables> {
  return programEnvironment(await withoutOwnCredentials(env), options);
}
