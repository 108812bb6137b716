import { isIPv4 } from "node:net";
import { describe, expect, it } from "vitest";
import { containerdConfig, kubeletConfig, nodeIdentity, nodeUsers, podNetwork } from "./node-files.ts";

describe("files of a node", () => {
  it("give every node an address and a range of pods of its own", () => {
    const nodes = [1, 2, 9].map((index) => nodeIdentity(index));
    expect(new Set(nodes.map(({ address }) => address)).size).toBe(3);
    expect(nodes.every(({ address }) => isIPv4(address))).toBe(true);
    expect(JSON.stringify(podNetwork(nodeIdentity(2)))).toContain('"subnet":"10.88.2.0/24"');
  });

  it("let containerd use the snapshotter and the privileges that the machine has", () => {
    const base = { folder: "/a b", cniPlugins: "/cni" } as const;
    const full = containerdConfig({ ...base, snapshotter: "overlayfs", canLowerOomScore: true });
    expect(full).toContain('root = "/a b/containers"');
    expect(full).toContain("restrict_oom_score_adj = false");
    const limited = containerdConfig({ ...base, snapshotter: "native", canLowerOomScore: false });
    expect(limited).toContain('snapshotter = "native"');
    expect(limited).toContain("restrict_oom_score_adj = true");
  });

  it("make the kubelet authenticate all its callers and stay within its cgroup", () => {
    expect(kubeletConfig(nodeIdentity(1), "oaas-node-1", "/ca.crt")).toMatchObject({
      authentication: { anonymous: { enabled: false } },
      authorization: { mode: "Webhook" },
      readOnlyPort: 0,
      cgroupRoot: "/oaas-node-1",
    });
  });

  it("name the users as the bootstrap roles of Kubernetes do", () => {
    const users = nodeUsers(["real-1"], (name) => `token of ${name}`);
    expect(users.map(({ name, groups }) => [name, groups])).toEqual([
      ["system:node:real-1", ["system:nodes"]],
      ["system:kube-proxy", []],
      ["system:coredns", []],
    ]);
  });
});
