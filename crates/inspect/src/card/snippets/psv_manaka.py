import manaka

manaka.corpus("FILE", "corpus", OPTIONS)
