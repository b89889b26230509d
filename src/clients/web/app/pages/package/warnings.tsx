interface Warning {
  message: string
  path?: string | null
}

/** So many files are named; the others are counted. */
const NAMED = 3

/** What an import or an export leaves out or changes: each sentence once, with the files that it is about. */
export function Warnings({ list }: { list: readonly Warning[] }) {
  if (list.length === 0) return null
  const byMessage = Map.groupBy(list, ({ message }) => message)
  return (
    <ul class="package-warnings" aria-label="Warnings">
      {[...byMessage].map(([message, group]) => {
        const paths = group.flatMap(({ path }) => path ?? [])
        return (
          <li key={message} title={paths.join('\n')}>
            {message}
            {paths.length > 0 && (
              <span class="mono">
                {' '}
                {paths.slice(0, NAMED).join(', ')}
                {paths.length > NAMED && ` and ${paths.length - NAMED} more`}
              </span>
            )}
          </li>
        )
      })}
    </ul>
  )
}
