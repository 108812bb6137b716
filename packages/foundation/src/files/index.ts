/** Files and folders that only their owner can read; files that are re-read when they change. */
export { fileSource, type TextSource } from "./file-source.ts";
export {
  isWritableByOthers,
  makePrivateFolder,
  preparePrivateFolder,
  PRIVATE_FILE,
  PRIVATE_FOLDER,
  tightenPermissions,
  type Tightened,
} from "./private-files.ts";
