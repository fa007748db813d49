/** How the server speaks beside its requests: in words, or as a line of JSON like theirs. */
import { type Io, say } from "../io.ts";

export type Voice = (level: "info" | "warning", message: string) => void;

export function voiceOf(io: Io, json: boolean): Voice {
  if (!json) return (_, message) => say(io, message);
  return (level, message) => {
    io.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), level, message })}\n`);
  };
}
