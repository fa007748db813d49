/** Logs messages of the server to stderr, as text or as JSON. */
import { type Io, printNotice } from "../io.ts";

export type ServerLogger = (level: "info" | "warning", message: string) => void;

export function createServerLogger(io: Io, json: boolean): ServerLogger {
  if (!json) return (_, message) => printNotice(io, message);
  return (level, message) => {
    io.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), level, message })}\n`);
  };
}
