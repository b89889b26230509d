export type Theme = 'system' | 'light' | 'dark'

/** The theme that the person chose in this browser. */
export const theme = (): Theme => (localStorage.getItem('theme') as Theme | null) ?? 'system'

export function setTheme(chosen: Theme): void {
  localStorage.setItem('theme', chosen)
  applyTheme()
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme()
}
