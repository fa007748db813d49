/** Opens Rookery for commands that only look at the log or answer in it: they work wherever they are typed. */
import { parse } from "node:path";
import { Rookery } from "../rookery.ts";
import type { Io } from "./io.ts";

/** No session is started from here, so the working folder does not matter, and may be gone. */
export function openLog({ env }: Io): Promise<Rookery> {
  return Rookery.open({ env, cwd: parse(process.execPath).root });
}
