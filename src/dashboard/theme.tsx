// Light, dark, or as the system has it. The choice stays in this browser.
import { useEffect, useState } from 'preact/hooks'

const themes = ['auto', 'light', 'dark'] as const
type Theme = (typeof themes)[number]
const key = 'keelson-theme'

const stored = (): Theme => themes.find((t) => t === localStorage.getItem(key)) ?? 'auto'

export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(stored)
  useEffect(() => {
    if (theme === 'auto') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    localStorage.setItem(key, theme)
    dispatchEvent(new Event('keelson-theme'))
  }, [theme])
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto'
  return (
    <button type="button" class="quiet" onClick={() => setTheme(next)} title={`Switch to ${next}`}>
      {theme}
      <span class="theme-word"> theme</span>
    </button>
  )
}
