import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { makeRunFolder, startCluster, type LocalCluster } from "@oaas/real-components";
import type { JsonObject } from "@oaas/kube-core";
import { accessText, recordAccess } from "../../packages/kube-apiserver/test/recording/access-answers.ts";
import {
  bootstrapRolesText,
  readBootstrapRoles,
} from "../../packages/kube-apiserver/test/recording/bootstrap-roles.ts";
import { kindAnswersText, recordKindAnswers } from "../../packages/kube-apiserver/test/recording/kind-answers.ts";
import { kindDataText, readKindData, type GoFields } from "../../packages/kube-apiserver/test/recording/kind-data.ts";
import { limitsText, recordLimits } from "../../packages/kube-apiserver/test/recording/limit-answers.ts";
import { recordTables, tablesText } from "../../packages/kube-apiserver/test/recording/table-answers.ts";
import { createRecorder } from "../../packages/kube-apiserver/test/recording/real-server.ts";
import { ensureComponents } from "../components.ts";
import { capture } from "../tasks/command.ts";
import { ROOT } from "../tasks/root.ts";

const FOLDER = "packages/kube-apiserver";
const TYPES = "tools/kindgen/go-fields";
const PROTOBUF = fileURLToPath(import.meta.resolve("./protobuf-messages.ts"));

/** `npm run kindgen`: reads the kinds of the real kube-apiserver and writes them for the embedded one. */
export async function kindgen(): Promise<number> {
  await ensureComponents("test", console.log);
  const folder = await makeRunFolder("kindgen");
  const cluster = await startCluster({ name: "kindgen", folder: folder.path, fsync: false });
  try {
    const data = await readKindData(readerOf(cluster), await goFields());
    write(`${FOLDER}/src/gen/kinds.json`, kindDataText(data));
    write(
      `${FOLDER}/src/gen/bootstrap-roles.json`,
      bootstrapRolesText(await readBootstrapRoles(createRecorder(cluster))),
    );
    const answers = await recordKindAnswers(createRecorder(cluster));
    write(`${FOLDER}/testdata/recorded/kind-answers.json`, kindAnswersText(answers));
    write(`${FOLDER}/testdata/recorded/tables.json`, tablesText(await recordTables(createRecorder(cluster))));
    write(`${FOLDER}/testdata/recorded/access.json`, accessText(await recordAccess(createRecorder(cluster))));
    write(`${FOLDER}/testdata/recorded/limits.json`, limitsText(await recordLimits(createRecorder(cluster))));
    await writeProtobufMessages();
    return 0;
  } finally {
    await cluster.stop(0);
    await folder.remove();
  }
}

function readerOf({ kubectl }: LocalCluster): (path: string) => Promise<JsonObject> {
  return async (path) => {
    const { exitCode, stdout, stderr } = await kubectl(["get", "--raw", path]);
    if (exitCode !== 0) throw new Error(`${path}: ${stderr}`);
    return JSON.parse(stdout) as JsonObject;
  };
}

/** The JSON encoding of each field, from the Go types. */
async function goFields(): Promise<GoFields> {
  const output = await mustRun("go", ["run", "-C", TYPES, "."]);
  return JSON.parse(output.slice(output.indexOf("{"))) as GoFields;
}

/** The protobuf encoding of the kinds, from the sources of the same release. */
async function writeProtobufMessages(): Promise<void> {
  const modules = (await mustRun("go", ["env", "GOMODCACHE"])).trim();
  const release = (await mustRun("go", ["list", "-C", TYPES, "-m", "-f", "{{.Version}}", "k8s.io/api"])).trim();
  console.log((await mustRun(process.execPath, [PROTOBUF, path.join(modules, "k8s.io"), release])).trim());
}

async function mustRun(command: string, args: readonly string[]): Promise<string> {
  const { exitCode, output } = await capture(command, args);
  if (exitCode !== 0) throw new Error(`${command} ${args.join(" ")}:\n${output}`);
  return output;
}

function write(file: string, text: string): void {
  writeFileSync(path.join(ROOT, file), text);
  console.log(`${file} (${Math.round(text.length / 1024)} kB)`);
}
