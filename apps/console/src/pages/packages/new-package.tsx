import { m } from "../../messages/en.ts";
import { PageHeader } from "../../ui/page.tsx";
import { oaas } from "../../lib/commands.ts";
import { PackageEditor } from "./package-editor.tsx";

/** A class with one function: complete, so that it can be deployed as it is. */
const TEMPLATE = {
  name: "my-package",
  version: "1.0.0",
  classes: [{ key: "Greeter", function_bindings: [{ name: "greet", function_key: "Greeter.greet", stateless: true }] }],
  functions: [
    {
      key: "Greeter.greet",
      function_type: "CUSTOM",
      provision_config: { container_image: "example.test/greeter:1.0.0" },
    },
  ],
};

export default function NewPackagePage() {
  return (
    <>
      <PageHeader
        title={m.packages.create}
        crumbs={[{ label: m.nav.packages, href: "/packages" }]}
        commands={[oaas("apply -f package.yaml")]}
      />
      <PackageEditor pkg={TEMPLATE} />
    </>
  );
}
