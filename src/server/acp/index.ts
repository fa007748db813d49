/** The ACP door. */
export { openDoor, type DoorOptions } from "./door.ts";
