"""The workbench: a web page to choose with, to watch collections on, and to learn from.

A process of its own (`hush workbench`) that speaks to a collector over its public interface alone, so that neither its
load nor its faults touch what comes in. `frame` is what a page is written on; a page's module lies in `pages` and only
lays out; what it computes and says lies in a folder of its own, without NiceGUI.

    settings    where it listens, which collector it speaks to, what it lets anyone ask of it
    theme       type, colours and spacing, from the colours of `hush.reports`
    guard       who may ask: hosts, origins, sessions, roles
    jobs        long work: a process each, which can be cancelled and survives a reload
    collector   the collector, asked without holding up the page
    charts      charts with a name, a summary in words and a table
    controls    labelled fields, files in and out, progress
    frame       what is around a page
    serving     all of it, running
"""
