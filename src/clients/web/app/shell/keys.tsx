import { signal } from '@preact/signals'
import { Dialog } from '../kit/dialog.tsx'
import { type Command, currentCommands } from '../state/commands.ts'

const shown = signal<readonly Command[] | undefined>(undefined)

/** Formats a shortcut such as `mod+k` for the keyboard of this computer. */
export const keyText = (keys: string) =>
  keys.replace('mod+', 'Ctrl ').replace('shift+', 'Shift ').replace('Escape', 'Esc')

export const showKeys = () => {
  shown.value = currentCommands()
}

/** The shortcuts of the page, by group. */
export function Keys() {
  if (!shown.value) return null
  const withKeys = shown.value.filter(({ keys }) => keys && !keys.startsWith('Arrow'))
  const groups = Map.groupBy(new Map(withKeys.map((command) => [command.keys, command])).values(), ({ group }) => group)
  return (
    <Dialog
      title="Keyboard shortcuts"
      width={560}
      onClose={() => {
        shown.value = undefined
      }}
    >
      <div class="dialog-body keys">
        {[...groups].map(([group, list]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {list.map(({ keys, title }) => (
                <div key={keys}>
                  <dt>{title}</dt>
                  <dd>
                    {keys!.split(' ').map((key) => (
                      <kbd key={key}>{keyText(key)}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
