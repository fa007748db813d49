/**
 * One descriptor per database file, for reading its header past the cache of SQLite. It stays open as long as a
 * connection does: when a process closes any descriptor of a file, the system releases all of its locks on that file.
 */
import { closeSync, constants, fstatSync, openSync, statSync, type BigIntStats } from "node:fs";

export interface FileDescriptor extends Disposable {
  readonly number: number;
}

interface OpenFile {
  readonly key: string;
  readonly numbers: number[];
  users: number;
}

const openFiles = new Map<string, OpenFile>();

/** Creates the file, for its owner only, if it is missing. Dispose the result after the connection is closed. */
export function openDescriptor(path: string): FileDescriptor {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  const known = found === undefined ? undefined : openFiles.get(keyOf(found));
  if (known !== undefined) return use(known);
  const number = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600); // SQLite gives its other files the same mode
  const key = keyOf(fstatSync(number, { bigint: true }));
  const file = openFiles.get(key) ?? { key, numbers: [], users: 0 };
  file.numbers.push(number);
  openFiles.set(key, file);
  return use(file);
}

function use(file: OpenFile): FileDescriptor {
  file.users += 1;
  let isOpen = true;
  return {
    number: file.numbers[0] ?? -1,
    [Symbol.dispose]() {
      if (!isOpen) return;
      isOpen = false;
      file.users -= 1;
      if (file.users > 0) return;
      openFiles.delete(file.key);
      for (const number of file.numbers) closeSync(number);
    },
  };
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
