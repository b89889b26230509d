import { Dialog } from '../kit/dialog.tsx'
import { explained } from '../state/dialogs.ts'

/** Formats a shortcut such as `mod+k` for the keyboard of this computer. */
export const keyText = (keys: string) =>
  keys.replace('mod+', 'Ctrl ').replace('shift+', 'Shift ').replace('Escape', 'Esc')

/** The shortcuts of the page, by group. */
export function Keys() {
  if (!explained.value) return null
  const withKeys = explained.value.filter(({ keys }) => keys && !keys.startsWith('Arrow'))
  const groups = Map.groupBy(new Map(withKeys.map((command) => [command.keys, command])).values(), ({ group }) => group)
  return (
    <Dialog
      title="Keyboard shortcuts"
      width={560}
      onClose={() => {
        explained.value = undefined
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
