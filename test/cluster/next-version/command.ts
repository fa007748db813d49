/** The command `rookery` of the next version. */
import { runCommandLine } from "../../../src/cli/execute.ts";

void runCommandLine(process.argv.slice(2), "99.0.0");
