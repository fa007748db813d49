/** The key of this browser, which belongs to its cookie. A sign-in link has it in the fragment of the URL. */
const STORAGE_NAME = "rookery-page-key";

/** Moves the key from the URL to the storage, so that it is not in the history. Call it before anything else. */
export function keepPageKey(): void {
  const key = /^#key=([\w-]{20,200})$/.exec(location.hash)?.[1];
  if (key === undefined) return;
  localStorage.setItem(STORAGE_NAME, key);
  history.replaceState(null, "", location.pathname);
}

export function readPageKey(): string | undefined {
  return localStorage.getItem(STORAGE_NAME) ?? undefined;
}

export function forgetPageKey(): void {
  localStorage.removeItem(STORAGE_NAME);
}
