/**
 * Remotes that are folders of this machine. A push to one runs its hooks and the programs of its configuration here, so
 * it must not be a part of a checkout: the author of the checkout would decide what runs.
 */
import { realpath } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import { findEnclosingCheckout } from "../discover.ts";

/** Git also tries the name with this suffix. */
const SUFFIXES = ["", ".git"];

/** Returns the checkout that contains the remote. Undefined for other paths, and for a remote that is not a path. */
export async function findCheckoutOfRemote(url: string): Promise<string | undefined> {
  const path = toPath(url);
  if (path === undefined) return undefined;
  for (const suffix of SUFFIXES) {
    const real = await realpath(`${path.replace(/(?<=.)\/$/, "")}${suffix}`).catch(() => undefined);
    const checkout = real === undefined ? undefined : await findEnclosingCheckout(real);
    if (checkout !== undefined) return checkout;
  }
  return undefined;
}

/** Rejects with `repository_bare` if the remote is a part of a checkout. */
export async function refuseRemoteInCheckout(url: string): Promise<void> {
  const checkout = await findCheckoutOfRemote(url);
  if (checkout === undefined) return;
  throw new RookeryError(
    "repository_bare",
    `the remote ${url} is a part of the checkout ${checkout}; a push would run hooks of its author, so git is not run ` +
      `there; use a bare repository elsewhere: git clone --bare ${url} FOLDER.git`,
  );
}

/** Git decodes `file:` URLs, and takes a host name in them for the first folder. */
function toPath(url: string): string | undefined {
  if (isAbsolute(url)) return url;
  if (!url.startsWith("file://")) return undefined;
  try {
    return decodeURIComponent(url.slice("file:".length));
  } catch {
    return url.slice("file:".length);
  }
}
