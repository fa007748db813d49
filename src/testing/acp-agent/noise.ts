/** Output that real agents write between their messages, for the `write` step. */

import type { AcpSteps } from "./steps/steps.ts";

/** By description. Each value is one or more complete lines that are not messages. */
export const NOISE: Readonly<Record<string, AcpSteps["write"]>> = {
  "a log line": "[info] the server is listening\n",
  "a log line in JSON": '{"level":"info","time":1735689600000,"msg":"ready"}\n',
  "a warning of Node's": "(node:1) Warning: something is deprecated\n(Use `node --trace-deprecation` to see where)\n",
  "a coloured line": "\u001B[32mready\u001B[0m\n",
  "a window title": "\u001B]0;agent\u0007\n",
  "a link with an OSC code": "\u001B]8;;https://agent.invalid\u001B\\the agent\u001B]8;;\u001B\\\n",
  "half a message": '{"jsonrpc":"2.0","method":"session/upd\n',
  "a list of messages": '[{"jsonrpc":"2.0","method":"session/update","params":{}}]\n',
  "a string": '"ready"\n',
  "a number": "42\n",
  "a null": "null\n",
  "empty lines": "\n\r\n   \n",
  "bytes that are no UTF-8": { base64: Buffer.from([0xff, 0xfe, 0xc0, 0x0a]).toString("base64") },
};
