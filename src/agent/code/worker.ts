/** The worker thread of one program. It has no data except its `workerData`, and ends with the program. */
import { parentPort, workerData } from "node:worker_threads";
import { installFixedClock } from "./fixed-clock.ts";
import type { ProgramMessage, ProgramData, CallResultMessage } from "./thread-messages.ts";
import { Sandbox } from "./sandbox.ts";

const port = parentPort;
if (port === null) throw new Error("code-worker.js must be started as a worker thread");
const send = (message: ProgramMessage): void => port.postMessage(message);
installFixedClock();
const sandbox = await Sandbox.open(workerData as ProgramData, send);
port.on("message", (result: CallResultMessage) => sandbox.settle(result));
send({ type: "began" });
sandbox.start();
