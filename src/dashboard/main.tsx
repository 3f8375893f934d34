// Starts the page: one line to the server, one store, one tree of views.
import { render } from 'preact'
import 'uplot/dist/uPlot.min.css'
import { App } from './app.js'
import './app.css'

const root = document.getElementById('app')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
