/** Opens Rookery for commands that only use the log and work in any directory. */
import { parse } from "node:path";
import { Rookery } from "../rookery.ts";
import type { Io } from "./io.ts";

/** These commands start no session, so the working directory does not matter and may be deleted. */
export function openLog({ env }: Io): Promise<Rookery> {
  return Rookery.open({ env, cwd: parse(process.execPath).root });
}
