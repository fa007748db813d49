/** Agents as child processes. */
export { startAgent, type AgentCommand, type AgentProcess, type CloseDeadlines } from "./agent.ts";
