/** Opens Rookery for commands that work in any directory: they use the log, or a session that has its own directory. */
import { parse } from "node:path";
import { Rookery } from "../rookery.ts";
import type { Io } from "./io.ts";

/** The current directory does not matter, and may have been deleted. */
export function openRookeryAnywhere({ env }: Io): Promise<Rookery> {
  return Rookery.open({ env, cwd: parse(process.execPath).root });
}
