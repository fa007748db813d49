/** The thread of one program: it knows nothing but what it was started with, and ends with the program. */
import { parentPort, workerData } from "node:worker_threads";
import { stopClock } from "./clock.ts";
import type { FromProgram, ProgramData, ToProgram } from "./messages.ts";
import { Sandbox } from "./sandbox.ts";

const port = parentPort;
if (port === null) throw new Error("this is the thread of a program, and no program itself");
const say = (message: FromProgram): void => port.postMessage(message);
stopClock();
const sandbox = await Sandbox.open(workerData as ProgramData, say);
port.on("message", (result: ToProgram) => sandbox.settle(result));
say({ type: "began" });
sandbox.begin();
