/** Reserves stdout for the protocol: other output of this process goes to stderr. */
import { Writable } from "node:stream";

/** Call it before loading other modules. Returns a stream that writes to stdout. */
export function reserveStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => void write(chunk, done),
  });
}
