import { USER_ID } from "./root/base-root.ts";
import type { Platform } from "./oci/blob.ts";
import type { RunSettings } from "./oci/image.ts";
import type { RootEntry } from "./oci/layer.ts";

/** A program that has an image. */
export interface Program {
  /** The name of the image below `oaas/`. */
  readonly name: string;
  /** The app below `apps/`, and the name of its bundle. */
  readonly app: string;
  readonly title: string;
  readonly description: string;
  readonly ports: readonly string[];
  readonly workingDir: string;
  /** Folders with static files next to the bundle. */
  readonly staticFolders: readonly string[];
  /** Folders that the program may write to when a volume is mounted there. */
  readonly folders: readonly RootEntry[];
}

const STATE_FOLDER = "var/lib/oaas";

/** The images. The console is part of the package manager: its static files lie next to the bundle. */
export const PROGRAMS: readonly Program[] = [
  {
    name: "package-manager",
    app: "package-manager",
    title: "OaaS package manager",
    description: "Registry, planner and REST API of Object-as-a-Service",
    ports: ["8080/tcp"],
    workingDir: `/${STATE_FOLDER}`,
    staticFolders: ["console"],
    folders: [{ type: "folder", path: STATE_FOLDER, mode: 0o750, owner: USER_ID }],
  },
  {
    name: "class-runtime-manager",
    app: "class-runtime-manager",
    title: "OaaS class runtime manager",
    description: "Controller that runs classes of Object-as-a-Service in a Kubernetes cluster",
    ports: ["8088/tcp"],
    workingDir: "/",
    staticFolders: [],
    folders: [],
  },
  {
    name: "cli",
    app: "cli",
    title: "OaaS command line",
    description: "oaas, the command line of Object-as-a-Service",
    ports: [],
    workingDir: "/work",
    staticFolders: [],
    folders: [{ type: "folder", path: "work", mode: 0o755 }],
  },
];

/** The name of the archive of one platform, below the output folder of `npm run images`. */
export function archiveName({ name }: Pick<Program, "name">, version: string, { os, architecture }: Platform): string {
  return `oaas-${name}-${version}-${os}-${architecture}.tar`;
}

/** The folder of the program, as in the systemd units. */
export const PROGRAM_FOLDER = "opt/oaas";

/** Node trusts the authorities of the image, so that a mounted file replaces them. */
const ENVIRONMENT = {
  PATH: "/usr/bin",
  HOME: "/home/nonroot",
  SSL_CERT_FILE: "/etc/ssl/certs/ca-certificates.crt",
  NODE_USE_SYSTEM_CA: "1",
};

export function settingsOf({ app, ports, workingDir }: Program): RunSettings {
  return {
    entrypoint: ["/usr/bin/node", `/${PROGRAM_FOLDER}/${app}.mjs`],
    user: `${USER_ID}:${USER_ID}`,
    workingDir,
    env: ENVIRONMENT,
    ports,
  };
}

/** The labels and annotations, with the names that the OCI specification defines. */
export function annotationsOf(
  { title, description }: Program,
  { version, created, commit }: { readonly version: string; readonly created: string; readonly commit?: string },
): Readonly<Record<string, string>> {
  const prefix = "org.opencontainers.image";
  return {
    [`${prefix}.title`]: title,
    [`${prefix}.description`]: description,
    [`${prefix}.version`]: version,
    [`${prefix}.created`]: created,
    ...(commit === undefined ? {} : { [`${prefix}.revision`]: commit }),
    [`${prefix}.licenses`]: "Apache-2.0",
  };
}
