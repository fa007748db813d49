/** Login to an agent. */
export {
  isTerminalLogin,
  runTerminalLogin,
  terminalLogin,
  type RunLoginOptions,
  type TerminalLogin,
} from "./terminal.ts";
