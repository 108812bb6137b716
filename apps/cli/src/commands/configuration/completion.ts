import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

/** Each script asks `oaas __complete` for candidates, so it stays valid across versions. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_oaas_complete() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(oaas __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _oaas_complete oaas
`,
  zsh: `#compdef oaas
_oaas() {
  local -a words_found
  words_found=("\${(@f)$(oaas __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a words_found
}
compdef _oaas oaas
`,
  fish: `complete -c oaas -f -a '(oaas __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
complete -c oaas -s f -r -F
`,
};

export async function completion(session: Session, _flags: object, shell: string): Promise<void> {
  const script = SCRIPTS[shell];
  if (script === undefined)
    throw new UsageError(`no completion script for "${shell}"`, `use one of ${Object.keys(SCRIPTS).join(", ")}`);
  session.print(script);
}
