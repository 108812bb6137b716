import { readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { onPath, cacheDir } from "../components/cache/cache.ts";
import { componentFile, missingComponents } from "../components/cache/component-file.ts";
import { runCommand } from "../process/client-command.ts";

/** The components of a cluster with real nodes. */
export const NODE_COMPONENTS = ["etcd", "kubernetes", "node", "containerd", "coredns"] as const;

/** Replaced by empty folders within a node, see machine/node.sh. */
const HIDDEN = ["/run", "/var/run", "/var/lib", "/var/log"];
const TOOLS = ["unshare", "nsenter", "setsid", "mount", "tar", "ldd"];

export interface Machine {
  readonly platform: string;
  readonly uid: number | undefined;
  readonly hasTool: (name: string) => boolean;
  /** Folders that a node reads. */
  readonly folders: readonly string[];
}

/** Everything that real nodes lack on this machine, each with the fix; empty if they can start. */
export async function missingForNodes(): Promise<readonly string[]> {
  const obstacles = await obstaclesToNodes();
  return obstacles.length > 0 ? obstacles : missingComponents(NODE_COMPONENTS);
}

/** What about this machine keeps real nodes from running. Namespaces are tried only when containerd is obtained. */
export async function obstaclesToNodes(): Promise<readonly string[]> {
  const missing = missingOnMachine({
    platform: process.platform,
    uid: process.getuid?.(),
    hasTool: (name) => onPath(name) !== undefined,
    folders: [tmpdir(), cacheDir()],
  });
  return missing.length > 0 ? missing : forbiddenByKernel();
}

/** The part that needs no command. */
export function missingOnMachine({ platform, uid, hasTool, folders }: Machine): readonly string[] {
  if (platform !== "linux")
    return [`real nodes need Linux, this is ${platform}: use a Linux machine or virtual machine`];
  const tools = TOOLS.filter((name) => !hasTool(name));
  return [
    ...(uid === 0 ? [] : ["real nodes need root, for namespaces and cgroups: run it with sudo"]),
    ...(tools.length === 0
      ? []
      : [`${tools.join(", ")} not found on PATH: install util-linux, mount, tar and libc-bin`]),
    ...folders
      .filter((folder) => HIDDEN.some((hidden) => isBelow(folder, hidden)))
      .map(
        (folder) =>
          `${folder} is hidden within a node: set TMPDIR and OAAS_CACHE_DIR to folders outside ${HIDDEN.join(", ")}`,
      ),
  ];
}

function isBelow(folder: string, parent: string): boolean {
  let path = folder;
  try {
    path = realpathSync(folder);
  } catch {
    // It is created later.
  }
  return path === parent || path.startsWith(`${parent}/`);
}

/** Each thing that a node does, tried in namespaces of its own. */
const TRIALS: readonly { readonly what: string; readonly script: string; readonly fix: string }[] = [
  {
    what: "namespaces",
    script: "true",
    fix: "run outside a container, or in a privileged one",
  },
  { what: "tmpfs mounts", script: "mount -t tmpfs tmpfs /run", fix: "grant CAP_SYS_ADMIN" },
  {
    what: "cgroups",
    script:
      'for f in /sys/fs/cgroup /sys/fs/cgroup/memory; do if [ -e "$f/cgroup.procs" ]; then mkdir "$f/oaas-trial-$1" && rmdir "$f/oaas-trial-$1" && exit 0; fi; done; echo "no writable hierarchy in /sys/fs/cgroup" >&2; exit 1',
    fix: "mount the cgroup file system writable",
  },
  {
    what: "virtual network interfaces",
    script: '"$0/iproute" link set lo up && "$0/iproute" link add oaas0 type veth peer name oaas1',
    fix: "load the kernel module veth and grant CAP_NET_ADMIN",
  },
  {
    what: "nftables with address translation",
    script: '"$0/nft" add table ip oaas && "$0/nft" add chain ip oaas nat "{ type nat hook output priority -100 ; }"',
    fix: "load the kernel modules nf_tables and nft_nat",
  },
];

const OWN_NAMESPACES = "--net --mount --pid --fork --kill-child --mount-proc --propagation private".split(" ");

async function forbiddenByKernel(): Promise<readonly string[]> {
  if (missingComponents(["containerd"]).length > 0) return [];
  const tools = componentFile("container-tools");
  for (const { what, script, fix } of TRIALS) {
    const command = ["sh", "-c", script, tools, String(process.pid)];
    const { exitCode, stderr } = await runCommand("unshare", [...OWN_NAMESPACES, ...command]);
    if (exitCode !== 0) return [`the machine forbids ${what} (${stderr.trim()}): ${fix}`];
  }
  return [];
}

/** Whether overlayfs works below this folder. */
export async function hasOverlay(folder: string): Promise<boolean> {
  const script =
    'cd "$0" && mkdir -p trial/a trial/b trial/c trial/d && mount -t overlay overlay -o lowerdir=trial/a,upperdir=trial/b,workdir=trial/c trial/d';
  const { exitCode } = await runCommand("unshare", ["--mount", "--propagation", "private", "sh", "-c", script, folder]);
  return exitCode === 0;
}

const CAP_SYS_RESOURCE = 24n;

/** Whether containers can get an OOM score below that of this process. */
export function canLowerOomScore(status = readFileSync("/proc/self/status", "utf8")): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  return ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}
