// The project, whether the page is live, search, and the theme.

import { ChevronsUpDown, FolderPlus, Keyboard, Moon, Plus, Search, Sun, Wifi, WifiOff } from "lucide-react";
import { useProjects } from "@/api/queries";
import { openOverlay } from "@/app/overlays";
import { chooseProject, useProject } from "@/app/project";
import { useTheme, type Wish, wishFor } from "@/browser/theme";
import { useConnection } from "@/live/world";
import { Button } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { Menu, MenuItem, MenuLabel, MenuLine, MenuRadio, MenuRadioItem } from "@/ui/Menu";

export function Header() {
  const { wish, shown } = useTheme();
  return (
    <header className="flex h-12 shrink-0 items-center gap-1.5 border-b border-line px-3 sm:px-4">
      <ProjectSwitcher />
      <div className="flex-1" />
      <ConnectionState />
      <Button size="small" onClick={() => openOverlay("newTask")} aria-keyshortcuts="c">
        <Plus aria-hidden />
        <span className="sr-only sm:not-sr-only">New task</span>
      </Button>
      <Button size="small" onClick={() => openOverlay("palette")} aria-keyshortcuts="Control+K">
        <Search aria-hidden />
        <span className="sr-only md:not-sr-only">Search</span>
        <span className="hidden md:inline">
          <Kbd>Ctrl K</Kbd>
        </span>
      </Button>
      <Button
        look="ghost"
        size="icon"
        className="hidden sm:inline-flex"
        aria-label="Keys"
        onClick={() => openOverlay("sheet")}
      >
        <Keyboard />
      </Button>
      <Menu
        trigger={
          <Button look="ghost" size="icon" aria-label="Theme">
            {shown === "dark" ? <Moon /> : <Sun />}
          </Button>
        }
      >
        <MenuRadio value={wish} onValueChange={(value) => wishFor(value as Wish)}>
          <MenuRadioItem value="system">System</MenuRadioItem>
          <MenuRadioItem value="dark">Dark</MenuRadioItem>
          <MenuRadioItem value="light">Light</MenuRadioItem>
        </MenuRadio>
      </Menu>
    </header>
  );
}

function ConnectionState() {
  const state = useConnection((connection) => connection.state);
  const isLive = state === "live";
  const Icon = isLive ? Wifi : WifiOff;
  const word = isLive ? "Live" : state === "lost" ? "Reconnecting…" : "Connecting…";
  return (
    <span role="status" className="mr-1 flex items-center gap-1.5 text-xs text-fg-3">
      <Icon className="size-3.5" aria-hidden />
      {/* As wide as the longest of them, so that nothing moves when the stream comes and goes. */}
      <span className="sr-only sm:not-sr-only sm:min-w-22">{word}</span>
    </span>
  );
}

function ProjectSwitcher() {
  const { data: projects = [] } = useProjects();
  const project = useProject();
  if (!project) return <span className="font-semibold">Pleach</span>;
  return (
    <Menu
      align="start"
      trigger={
        <Button
          look="ghost"
          size="small"
          className="min-w-0 shrink px-1.5 text-sm font-semibold text-fg"
          aria-label={`Project: ${project.name}`}
        >
          <span className="truncate">{project.name}</span>
          <ChevronsUpDown className="text-fg-3" aria-hidden />
        </Button>
      }
    >
      <MenuLabel>Projects</MenuLabel>
      <MenuRadio value={project.id} onValueChange={chooseProject}>
        {projects.map((each) => (
          <MenuRadioItem key={each.id} value={each.id} disabled={each.status !== "ready"}>
            <span className="min-w-0">
              <span className="block truncate">{each.name}</span>
              <span className="block max-w-72 truncate text-xs text-fg-3">
                {each.status === "ready" ? each.path : (each.error ?? each.status)}
              </span>
            </span>
          </MenuRadioItem>
        ))}
      </MenuRadio>
      <MenuLine />
      <MenuItem onSelect={() => openOverlay("addProject")}>
        <FolderPlus aria-hidden /> Add a project…
      </MenuItem>
    </Menu>
  );
}
