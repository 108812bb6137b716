import { Link } from "wouter";

/** The name of an object, which leads to its page. */
export function ObjectLink({
  list,
  name,
}: {
  readonly list: "deployments" | "packages" | "clusters";
  readonly name: string;
}) {
  return (
    <Link href={`/${list}/${encodeURIComponent(name)}`} className="font-medium hover:underline">
      {name}
    </Link>
  );
}
