/** The contract suite of all backends; see `contract.ts`. */
export { backendContract, type ContractOptions, type Verdict } from "./contract.ts";
export { modelScript, type Files, type Voice } from "./model.ts";
export { SECRETS, type Scene, type Subject } from "./subject.ts";
export { changed, commandOf } from "./toml.ts";
export {
  BEHAVIOURS,
  BROUGHT,
  COLOURS,
  GREETING,
  NOTE,
  OURS,
  PROMPTS,
  QUESTION,
  TEXT,
  type Behaviour,
} from "./words.ts";
