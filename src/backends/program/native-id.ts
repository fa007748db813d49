/** Names that programs give their own sessions. */

const MAX_NATIVE_ID_LENGTH = 1_000;

/** Can a later turn name the session by it on a command line? One that cannot would fail every further prompt. */
export function isUsableNativeId(id: string): boolean {
  return id !== "" && id.length <= MAX_NATIVE_ID_LENGTH && !/\p{Cc}/u.test(id) && id.isWellFormed();
}
