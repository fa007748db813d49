/** Replaces `src/store/memory.ts`: a store in an empty schema, which is created when the store is first used. */
import { RookeryError, type Store } from "../../../src/domain/index.ts";
import { withCheckedArguments } from "../../../src/store/parameters.ts";
import { openNewTestStore } from "./schemas.ts";

export function openMemoryStore(): Store {
  let opening: Promise<Store> | undefined;
  let isClosed = false;
  const open = (): Promise<Store> => {
    if (isClosed && opening === undefined) throw new RookeryError("store_closed", "the store is closed: open it again");
    return (opening ??= openNewTestStore());
  };
  const close = async (): Promise<void> => {
    isClosed = true;
    await (await opening)?.[Symbol.asyncDispose]();
  };
  const lazy = new Proxy({} as Store, {
    get(_, name) {
      if (name === Symbol.asyncDispose) return close;
      if (/^(follow|watch)/.test(name.toString())) return (...args: never[]) => iterateLater(open, name, args);
      return async (...args: never[]) => call(await open(), name, args);
    },
  });
  return withCheckedArguments(lazy);
}

async function* iterateLater(open: () => Promise<Store>, name: string | symbol, args: never[]): AsyncIterable<unknown> {
  yield* call(await open(), name, args) as AsyncIterable<unknown>;
}

function call(store: Store, name: string | symbol, args: readonly never[]): unknown {
  return (store[name as keyof Store] as (...args: never[]) => unknown)(...args);
}
