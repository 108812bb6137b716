/** Files and folders that only their owner can read. */
export {
  isWritableByOthers,
  makePrivateFolder,
  preparePrivateFolder,
  PRIVATE_FILE,
  PRIVATE_FOLDER,
  tightenPermissions,
  type Tightened,
} from "./private-files.ts";
