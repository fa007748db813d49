/** Session ids of programs. */

const MAX_NATIVE_ID_LENGTH = 1_000;

/** Whether a command line can carry the id. An unusable id would fail every later prompt. */
export function isUsableNativeId(id: string): boolean {
  return id !== "" && id.length <= MAX_NATIVE_ID_LENGTH && !/\p{Cc}/u.test(id) && id.isWellFormed();
}
