/** The contract suite of all backends; see `contract.ts`. */
export { backendContract, type ContractOptions, type CaseResult } from "./contract.ts";
export { modelScript, type ContractFiles, type ToolCallFormat } from "./model.ts";
export { SECRETS, type ContractScene, type Subject } from "./subject.ts";
export { changeCommand, readCommand } from "./toml.ts";
export { BEHAVIORS, BROUGHT, COLORS, GREETING, NOTE, OURS, PROMPTS, QUESTION, TEXT, type Behavior } from "./prompts.ts";
