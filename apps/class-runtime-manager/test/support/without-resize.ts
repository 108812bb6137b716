import type { Transport } from "@oaas/kube-runtime";

interface Discovered {
  readonly items: readonly {
    readonly versions: readonly { readonly resources: readonly Resource[] }[];
  }[];
}

interface Resource {
  readonly subresources?: readonly { readonly subresource: string }[];
}

/** The transport to a server that does not serve `pods/resize`, like Kubernetes before 1.33. */
export function withoutResize(transport: Transport): Transport {
  return {
    send: async (request) => {
      const response = await transport.send(request);
      if (request.path !== "/api") return response;
      return { ...response, text: async () => JSON.stringify(omitResize(JSON.parse(await response.text()))) };
    },
    close: () => transport.close(),
  };
}

function omitResize({ items, ...rest }: Discovered): object {
  const omit = ({ subresources = [], ...resource }: Resource): object => ({
    ...resource,
    subresources: subresources.filter(({ subresource }) => subresource !== "resize"),
  });
  return {
    ...rest,
    items: items.map((item) => ({
      ...item,
      versions: item.versions.map((version) => ({ ...version, resources: version.resources.map(omit) })),
    })),
  };
}
