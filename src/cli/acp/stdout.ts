/** Keeps stdout for the protocol: whatever else prints in this process prints on stderr from then on. */
import { Writable } from "node:stream";

/** Called before anything else is loaded. What is written to the result goes out as it is. */
export function reserveStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => void write(chunk, done),
  });
}
